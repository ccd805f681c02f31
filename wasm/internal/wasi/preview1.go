package wasi

import "io/fs"

// Numbers of the preview 1 witx.

type filetype = uint8

const (
	filetypeUnknown         filetype = 0
	filetypeBlockDevice     filetype = 1
	filetypeCharacterDevice filetype = 2
	filetypeDirectory       filetype = 3
	filetypeRegularFile     filetype = 4
	filetypeSocketStream    filetype = 6
	filetypeSymbolicLink    filetype = 7
)

// filetypeOf gives the type that a mode stands for. Pipes are socket_stream, like our standard streams.
func filetypeOf(mode fs.FileMode) filetype {
	switch {
	case mode.IsRegular():
		return filetypeRegularFile
	case mode&fs.ModeDir != 0:
		return filetypeDirectory
	case mode&fs.ModeSymlink != 0:
		return filetypeSymbolicLink
	case mode&fs.ModeCharDevice != 0:
		return filetypeCharacterDevice
	case mode&fs.ModeDevice != 0:
		return filetypeBlockDevice
	case mode&(fs.ModeSocket|fs.ModeNamedPipe) != 0:
		return filetypeSocketStream
	default:
		return filetypeUnknown
	}
}

const (
	fdflagAppend   = 1 << 0
	fdflagDsync    = 1 << 1
	fdflagNonblock = 1 << 2
	fdflagRsync    = 1 << 3
	fdflagSync     = 1 << 4
	fdflagsAll     = 1<<5 - 1
)

const (
	oflagCreat     = 1 << 0
	oflagDirectory = 1 << 1
	oflagExcl      = 1 << 2
	oflagTrunc     = 1 << 3
	oflagsAll      = 1<<4 - 1
)

const lookupSymlinkFollow = 1

const (
	fstflagAtim    = 1 << 0
	fstflagAtimNow = 1 << 1
	fstflagMtim    = 1 << 2
	fstflagMtimNow = 1 << 3
	fstflagsAll    = 1<<4 - 1
)

const (
	clockRealtime       = 0
	clockMonotonic      = 1
	clockProcessCPUTime = 2
	clockThreadCPUTime  = 3
)

const (
	eventClock   = 0
	eventFdRead  = 1
	eventFdWrite = 2
)

const subclockAbstime = 1

const adviceLast = 5 // noreuse

type rights = uint64

const (
	rightFdDatasync           rights = 1 << 0
	rightFdRead               rights = 1 << 1
	rightFdSeek               rights = 1 << 2
	rightFdFdstatSetFlags     rights = 1 << 3
	rightFdSync               rights = 1 << 4
	rightFdTell               rights = 1 << 5
	rightFdWrite              rights = 1 << 6
	rightFdAdvise             rights = 1 << 7
	rightFdAllocate           rights = 1 << 8
	rightPathCreateDirectory  rights = 1 << 9
	rightPathCreateFile       rights = 1 << 10
	rightPathLinkSource       rights = 1 << 11
	rightPathLinkTarget       rights = 1 << 12
	rightPathOpen             rights = 1 << 13
	rightFdReaddir            rights = 1 << 14
	rightPathReadlink         rights = 1 << 15
	rightPathRenameSource     rights = 1 << 16
	rightPathRenameTarget     rights = 1 << 17
	rightPathFilestatGet      rights = 1 << 18
	rightPathFilestatSetTimes rights = 1 << 20
	rightFdFilestatGet        rights = 1 << 21
	rightFdFilestatSetSize    rights = 1 << 22
	rightFdFilestatSetTimes   rights = 1 << 23
	rightPathSymlink          rights = 1 << 24
	rightPathRemoveDirectory  rights = 1 << 25
	rightPathUnlinkFile       rights = 1 << 26
	rightPollFdReadwrite      rights = 1 << 27
)

// What descriptors of each kind report. wasi-libc takes O_ACCMODE from the read and write rights, takes
// a character device without seek and tell for a terminal, and asks path_open for no more than the
// inheriting rights of the directory.
const (
	rightsReading = rightFdRead
	rightsWriting = rightFdWrite | rightFdDatasync | rightFdAllocate | rightFdFilestatSetSize
	rightsStream  = rightFdFdstatSetFlags | rightFdFilestatGet | rightPollFdReadwrite
	rightsFile    = rightsStream | rightFdSeek | rightFdTell | rightFdSync | rightFdAdvise | rightFdFilestatSetTimes

	rightsDirectory = rightFdDatasync | rightFdSync | rightFdReaddir | rightFdFdstatSetFlags |
		rightFdFilestatGet | rightFdFilestatSetTimes |
		rightPathCreateDirectory | rightPathCreateFile | rightPathLinkSource | rightPathLinkTarget |
		rightPathOpen | rightPathReadlink | rightPathRenameSource | rightPathRenameTarget |
		rightPathFilestatGet | rightPathFilestatSetTimes |
		rightPathSymlink | rightPathRemoveDirectory | rightPathUnlinkFile
	rightsInheriting = rightsDirectory | rightsFile | rightsReading | rightsWriting
)
