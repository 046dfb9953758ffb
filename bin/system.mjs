// The system that this process runs on, for programs that any Node runs before there is code that
// could load `server/platform`: the launcher, and those in `build/`.

export const isWindows = process.platform === 'win32';
/** The form used in names of packages: `linux-x64`. */
export const ownTarget = `${process.platform}-${process.arch}`;
