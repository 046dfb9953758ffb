export function issueText(
  logs: readonly { readonly name: string; readonly text: string }[],
  run: string,
): string | null;
