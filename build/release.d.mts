export function notesOf(changelog: string, version: string): string | null;

export function problemsOf(facts: {
  readonly version: string;
  readonly changelog: string;
  readonly tag: string | null;
  readonly changed: string;
  readonly home: string;
  readonly publishingFrom: string | null;
}): string[];
