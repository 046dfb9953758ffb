// How systems, runtimes and git word that a disk has no space left.

/**
 * True of the text of such an error. Linux uses the same code (ENOSPC) for its limit of watched
 * files, so the words decide.
 */
export function tellsFullDisk(text: string): boolean {
  return /no space left on device|disk quota exceeded|not enough space|disk is full/iu.test(text);
}
