// The id of a git object.

/** A full commit, tree or blob id in hex. */
export type Sha = string;

export function isSha(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}
