"""The file operations of checkpoints and savepoints, in a file system, an object store or memory.

location        the interface
local_files     a folder of a file system
object_store    a prefix of an object store: conditional writes, retries, lost answers
object_client   the requests to an object store, sent by the library obstore
memory_client   an object store in the memory of one process
paths_and_uris  makes the location of a path or a URI
"""

from impl.state.locations.local_files import LocalFiles
from impl.state.locations.location import Location, Where
from impl.state.locations.object_store import ObjectFiles, Retries
from impl.state.locations.paths_and_uris import (
    CHECKPOINTS,
    SAVEPOINTS,
    absolute,
    beside,
    forget,
    is_in_memory,
    is_uri,
    location_of,
    new_memory,
    path_or_uri,
    record_checkpoint_folder,
    recorded_checkpoint_folder,
    savepoints_beside,
)

__all__ = [
    "CHECKPOINTS",
    "SAVEPOINTS",
    "LocalFiles",
    "Location",
    "ObjectFiles",
    "Retries",
    "Where",
    "absolute",
    "beside",
    "forget",
    "is_in_memory",
    "is_uri",
    "location_of",
    "new_memory",
    "path_or_uri",
    "record_checkpoint_folder",
    "recorded_checkpoint_folder",
    "savepoints_beside",
]
