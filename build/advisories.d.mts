/** What `npm audit --json` has printed, as one sentence; `ok` is false for high severity. */
export function verdictOf(
  text: string,
  shipped: readonly string[],
): { readonly ok: boolean; readonly message: string };
