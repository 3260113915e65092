"""One TOML file per protocol."""
