// The rules for a title that the user types into a VS Code input box.

/** The server's limit. */
const titleCharsMax = 500;

/** Returns why a text cannot be a task's title, or null if it can. */
export function whyNoTitle(text: string): string | null {
  if (text.trim() === '') return 'Write a title.';
  return text.length > titleCharsMax ? 'This is too long.' : null;
}
