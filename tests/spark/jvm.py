"""The options with which the tests start a JVM."""

# The JVMs of the tests run only briefly. So they use no second compiler and do not verify classes,
# and they start Hadoop's commands (chmod, readlink) without a helper process.
QUICK = (
    "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
    " -Djdk.lang.Process.launchMechanism=VFORK"
)
