"""The commands of a cluster, refused as by a server without cluster support."""
