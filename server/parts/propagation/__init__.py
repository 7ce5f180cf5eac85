"""What commands have changed, for the AOF and replicas."""
