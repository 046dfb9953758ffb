// The rules for a title that is typed into an input box of VS Code.

/** The server's limit. */
const titleCharsMax = 500;

/** Why a text cannot be a task's title; null if it can. */
export function whyNoTitle(text: string): string | null {
  if (text.trim() === '') return 'Write a title.';
  return text.length > titleCharsMax ? 'This is too long.' : null;
}
