// Whether a remote's refspec writes over all refs: a fetch that prunes then removes Drover's refs,
// and branches that were not pushed.

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

/** Its right side covers branches of this repository, or refs of Drover. */
function writesOurs(refspec: string): boolean {
  const to = refspec.slice(refspec.indexOf(':') + 1);
  return refspec.includes(':') && /^refs\/(?:\*|heads\/\*|heads\/drover\/.*|drover\/.*)$/u.test(to);
}

export function mirrorWarning({ key, refspec }: MirrorFetch): string {
  return `${key} is ${refspec}: "git fetch --prune" removes Drover's refs and branches that were not pushed. Use +refs/heads/*:refs/remotes/<remote>/* instead.`;
}
