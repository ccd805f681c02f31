package wasi

import (
	"context"
	"fmt"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental/sys"
)

// ModuleName is the name under which guests import preview 1.
const ModuleName = "wasi_snapshot_preview1"

// Instantiate puts the host module into rt, once per runtime. The closer takes it out again; closing rt
// does so too. The guest must have a memory, and must be called with a context from Env.Context: without
// one every function answers ENOSYS.
func Instantiate(ctx context.Context, rt wazero.Runtime) (api.Closer, error) {
	b := rt.NewHostModuleBuilder(ModuleName)
	for _, f := range functions {
		b.NewFunctionBuilder().
			WithGoModuleFunction(f.host(), valueTypes(f.params), valueTypes(f.results)).
			WithName(f.name).
			Export(f.name)
	}
	mod, err := b.Instantiate(ctx)
	if err != nil {
		return nil, fmt.Errorf("instantiate %s: %w", ModuleName, err)
	}
	return mod, nil
}

// call is one call of a host function.
type call struct {
	ctx context.Context
	mod api.Module
	mem api.Memory
	env *Env
}

// function is one function of preview 1. params and results are i for i32 and I for i64.
type function struct {
	name            string
	params, results string
	// fn gets the parameters on the guest's stack.
	fn func(c call, p []uint64) sys.Errno
}

func (f function) host() api.GoModuleFunc {
	fn := f.fn
	return func(ctx context.Context, mod api.Module, stack []uint64) {
		env := fromContext(ctx)
		if env == nil {
			stack[0] = uint64(number(sys.ENOSYS))
			return
		}
		e := fn(call{ctx: ctx, mod: mod, mem: mod.Memory(), env: env}, stack)
		stack[0] = uint64(number(e))
	}
}

func valueTypes(s string) []api.ValueType {
	types := make([]api.ValueType, len(s))
	for i := range s {
		types[i] = api.ValueTypeI32
		if s[i] == 'I' {
			types[i] = api.ValueTypeI64
		}
	}
	return types
}

// functions is all of preview 1, in the order of the witx.
var functions = []function{
	{"args_get", "ii", "i", argsGet},
	{"args_sizes_get", "ii", "i", argsSizesGet},
	{"environ_get", "ii", "i", environGet},
	{"environ_sizes_get", "ii", "i", environSizesGet},
	{"clock_res_get", "ii", "i", clockResGet},
	{"clock_time_get", "iIi", "i", clockTimeGet},
	{"fd_advise", "iIIi", "i", fdAdvise},
	{"fd_allocate", "iII", "i", fdAllocate},
	{"fd_close", "i", "i", fdClose},
	{"fd_datasync", "i", "i", fdDatasync},
	{"fd_fdstat_get", "ii", "i", fdFdstatGet},
	{"fd_fdstat_set_flags", "ii", "i", fdFdstatSetFlags},
	{"fd_fdstat_set_rights", "iII", "i", fdFdstatSetRights},
	{"fd_filestat_get", "ii", "i", fdFilestatGet},
	{"fd_filestat_set_size", "iI", "i", fdFilestatSetSize},
	{"fd_filestat_set_times", "iIIi", "i", fdFilestatSetTimes},
	{"fd_pread", "iiiIi", "i", fdPread},
	{"fd_prestat_get", "ii", "i", fdPrestatGet},
	{"fd_prestat_dir_name", "iii", "i", fdPrestatDirName},
	{"fd_pwrite", "iiiIi", "i", fdPwrite},
	{"fd_read", "iiii", "i", fdRead},
	{"fd_readdir", "iiiIi", "i", fdReaddir},
	{"fd_renumber", "ii", "i", fdRenumber},
	{"fd_seek", "iIii", "i", fdSeek},
	{"fd_sync", "i", "i", fdSync},
	{"fd_tell", "ii", "i", fdTell},
	{"fd_write", "iiii", "i", fdWrite},
	{"path_create_directory", "iii", "i", pathCreateDirectory},
	{"path_filestat_get", "iiiii", "i", pathFilestatGet},
	{"path_filestat_set_times", "iiiiIIi", "i", pathFilestatSetTimes},
	{"path_link", "iiiiiii", "i", pathLink},
	{"path_open", "iiiiiIIii", "i", pathOpen},
	{"path_readlink", "iiiiii", "i", pathReadlink},
	{"path_remove_directory", "iii", "i", pathRemoveDirectory},
	{"path_rename", "iiiiii", "i", pathRename},
	{"path_symlink", "iiiii", "i", pathSymlink},
	{"path_unlink_file", "iii", "i", pathUnlinkFile},
	{"poll_oneoff", "iiii", "i", pollOneoff},
	{"proc_exit", "i", "", procExit},
	{"proc_raise", "i", "i", procRaise},
	{"sched_yield", "", "i", schedYield},
	{"random_get", "ii", "i", randomGet},
	{"sock_accept", "iii", "i", notSocket},
	{"sock_recv", "iiiiii", "i", notSocket},
	{"sock_send", "iiiii", "i", notSocket},
	{"sock_shutdown", "ii", "i", notSocket},
}
