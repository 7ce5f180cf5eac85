"""How the tests start a JVM."""

# None runs for long: the second compiler, the verification of classes as shipped, and a
# process between each command of Hadoop's (chmod, readlink) and the JVM cost more than they save.
QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    " -Djdk.lang.Process.launchMechanism=VFORK"
)
