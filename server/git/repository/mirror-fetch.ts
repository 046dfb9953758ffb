// Detects a refspec that overwrites all refs. A pruning fetch then removes Drover's refs and
// branches that were not pushed.

export interface MirrorFetch {
  /** `remote.<name>.fetch`. */
  readonly key: string;
  readonly refspec: string;
}

export function mirrorFetches(
  values: ReadonlyMap<string, readonly string[]>,
): readonly MirrorFetch[] {
  return [...values].flatMap(([key, refspecs]) =>
    /^remote\..*\.fetch$/su.test(key)
      ? refspecs.filter(writesOurs).map((refspec) => ({ key, refspec }))
      : [],
  );
}

/** Its right side covers this repository's branches or Drover's refs. */
function writesOurs(refspec: string): boolean {
  const to = refspec.slice(refspec.indexOf(':') + 1);
  return refspec.includes(':') && /^refs\/(?:\*|heads\/\*|heads\/drover\/.*|drover\/.*)$/u.test(to);
}

export function mirrorWarning({ key, refspec }: MirrorFetch): string {
  return `${key} is ${refspec}: "git fetch --prune" removes Drover's refs and branches that were not pushed. Use +refs/heads/*:refs/remotes/<remote>/* instead.`;
}
