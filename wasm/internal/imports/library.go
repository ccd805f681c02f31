package imports

import (
	"strings"
	"sync"

	"github.com/sandbar-dev/sandbar/wasm/python"
)

// library is what the tier's interpreter can import without any file of the user's: the names of modules.
type library struct {
	// fixed are built in or frozen: no file takes their place.
	fixed map[string]bool
	// names are all modules. The value says whether it is a package.
	names map[string]bool
	// modules are those of them that can be imported.
	modules map[string]*module
}

// The modules that are not in the archive. A test compares them with the interpreter.
const (
	builtInModules = `_abc _ast _asyncio _bisect _blake2 _bz2 _codecs _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw
		_collections _contextvars _csv _datetime _decimal _elementtree _functools _heapq _imp _io _json _locale _lsprof _lzma _md5
		_multibytecodec _opcode _operator _pickle _queue _random _sandbar _sha1 _sha2 _sha3 _signal _socket _sqlite3 _sre _stat _statistics
		_string _struct _suggestions _symtable _sysconfig _thread _tokenize _tracemalloc _typing _warnings _weakref _zoneinfo array atexit
		binascii builtins cmath errno faulthandler gc itertools marshal math posix pyexpat select sys time unicodedata zlib`
	frozenModules = `_frozen_importlib _frozen_importlib_external zipimport abc codecs io _collections_abc _sitebuiltins genericpath ntpath
		posixpath os.path os site stat importlib.util importlib.machinery runpy __hello__ __hello_alias__ __phello_alias__
		__phello_alias__.spam __phello__ __phello__.__init__ __phello__.ham __phello__.ham.__init__ __phello__.ham.eggs __phello__.spam
		__hello_only__`
	// madeModules are put into sys.modules by the one above them.
	madeModules = `__main__ collections.abc pyexpat.errors pyexpat.model xml.parsers.expat.errors xml.parsers.expat.model`
)

// standard opens the library, once.
var standard = sync.OnceValues(openLibrary)

// Prepare reads the names of the library, in some 2 ms, so that the first decision does not.
func Prepare() error {
	_, err := standard()
	return err
}

func openLibrary() (*library, error) {
	archive, err := python.Library()
	if err != nil {
		return nil, err
	}
	l := &library{fixed: map[string]bool{}, names: map[string]bool{}, modules: map[string]*module{}}
	for _, f := range archive.File {
		if name, ok := strings.CutPrefix(f.Name, python.LibraryFolder+"/"); ok {
			l.add(name)
		}
	}
	for name := range strings.FieldsSeq(builtInModules + " " + frozenModules + " " + madeModules) {
		if _, there := l.names[name]; !there {
			l.names[name] = strings.HasPrefix(name, "__phello_") && !strings.Contains(name, ".") // a package
		}
		l.fixed[name] = true
	}
	for name := range l.names {
		if row := moduleRows[name]; row == nil || row.Kind == Useless {
			l.modules[name] = &module{name: name, kind: inLibrary}
		}
	}
	return l, nil
}

// add takes in a file of the archive.
func (l *library) add(file string) {
	name, ok := strings.CutSuffix(file, ".py")
	if !ok {
		return
	}
	name = strings.ReplaceAll(name, "/", ".")
	if name, ok = strings.CutSuffix(name, ".__init__"); ok {
		l.names[name] = true
		return
	}
	if _, there := l.names[name]; !there {
		l.names[name] = false
	}
}

// top returns the part of a dotted name before the first dot.
func top(name string) string {
	name, _, _ = strings.Cut(name, ".")
	return name
}
