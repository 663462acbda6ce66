"""The filter language and the searches it describes."""
