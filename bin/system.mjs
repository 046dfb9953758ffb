// The operating system of this process, for programs that run on any Node before code exists that
// could load `server/platform`: the launcher, and the programs in `build/`.

export const isWindows = process.platform === 'win32';
/** The form used in package names: `linux-x64`. */
export const ownTarget = `${process.platform}-${process.arch}`;
