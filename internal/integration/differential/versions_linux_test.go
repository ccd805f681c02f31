package differential

// A version is a change of Python itself.
type version struct {
	// since is the first version that does as the wasm tier's: 12 for 3.12.
	since int
	why   string
}

// hostPython are the scripts whose outcome depends on the version of Python, so that it says nothing about the tiers
// where cells have an older one than the wasm tier. That the wasm tier does what a native CPython of its own version
// does is what the corpus' goldens are for.
var hostPython = map[string]version{
	"argparse_error":        {13, "help text in columns"},
	"argv_env":              {13, "it prints the version"},
	"asyncio_queue":         {13, "Queue.shutdown"},
	"bank_simulation":       {12, "message of an abstract class"},
	"collections_tour":      {12, "repr of OrderedDict"},
	"compression":           {13, "the system's number in gzip's header"},
	"csv_dialects":          {12, "QUOTE_STRINGS"},
	"dataclass_inventory":   {13, "message of super()"},
	"decimal_invoice":       {12, "sum of floats"},
	"enum_states":           {12, "messages of enum"},
	"err_carets":            {13, "lines under calls in tracebacks"},
	"err_custom_hooks":      {13, "lines under calls in tracebacks"},
	"err_stop_iteration":    {13, "messages"},
	"err_suggestions":       {13, "suggestions"},
	"err_syntax_misc":       {13, "messages of the parser"},
	"float_format":          {12, "sum of floats"},
	"fractions_math":        {12, "format of Fraction"},
	"hashing":               {13, "message of hmac"},
	"inspect_ast":           {12, "soft keyword type"},
	"itertools_tour":        {12, "batched"},
	"json_transform":        {13, "message for a comma at the end"},
	"metaclass_descriptors": {13, "message of an object without __dict__"},
	"pathlib_files":         {13, "PurePath.full_match, from_uri"},
	"pickle_copy":           {13, "copy.replace, and messages"},
	"protocols_abc":         {12, "message of an abstract class"},
	"random_seeded":         {13, "line breaks of a message"},
	"recursion_limits":      {13, "recursion depth of C code"},
	"shutil_glob":           {12, "onexc of rmtree"},
	"statistics_report":     {13, "message for too few points"},
	"struct_binary":         {12, "messages of struct"},
	"typing_tour":           {12, "syntax of type parameters"},
}

// volatile are files whose content, but not whose size, depends on the moment or on a library's version.
var volatile = map[string]map[string]string{
	"bytes_io_codecs": {"f.bin": "random bytes"},
	"compression":     {"log.gz": "the time is in it"},
	"etl_pipeline":    {"shop.db": "SQLite's version is in it"},
	"pickle_copy":     {"shelf": "SQLite's settings are in it", "shelf-shm": "memory of SQLite", "shelf-wal": "of SQLite"},
	"sqlite_file":     {"app.db": "SQLite's version is in it"},
}

// leftOut are scripts that cannot be compared.
var leftOut = map[string]string{
	"doctest_run":        "it prints line numbers of the standard library, which each patch release moves",
	"err_module_missing": "it imports packages that the host may have",
	"unittest_run":       "it prints line numbers of the standard library, which each patch release moves",
	"zip_tar":            "filters of tarfile came with patch releases",
}
