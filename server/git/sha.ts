// The name of an object in git.

/** A full commit, tree or blob id in hex. */
export type Sha = string;
