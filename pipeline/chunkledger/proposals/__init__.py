"""A folder -> the settings that it calls for, as a settings file."""
