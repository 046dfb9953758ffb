// The themes in which every webview is tested, as VS Code gave them to one of its webviews.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sized } from '../../tier.ts';

const allThemes = [
  'Dark 2026',
  'Light 2026',
  'Default High Contrast',
  'Default High Contrast Light',
] as const;
export type ThemeName = (typeof allThemes)[number];

/** In the gate a dark one and a light one, one of them of high contrast. */
export const themeNames: readonly ThemeName[] = sized<readonly ThemeName[]>(
  ['Dark 2026', 'Default High Contrast Light'],
  allThemes,
);

/**
 * Of tests of one page's states; `accessibility.test.ts` shows every page in all of `themeNames`.
 */
export const stateThemes: readonly ThemeName[] = sized<readonly ThemeName[]>(
  ['Dark 2026'],
  allThemes,
);

export interface ThemeFixture {
  /** Custom properties on the root element. */
  readonly variables: Readonly<Record<string, string>>;
  readonly bodyClass: string;
  readonly bodyData: Readonly<Record<string, string>>;
  /** The style sheet that VS Code puts into every webview. */
  readonly defaultStyles: string;
}

export function themePath(name: ThemeName): string {
  return join(import.meta.dirname, 'themes', `${name.toLowerCase().replaceAll(' ', '-')}.json`);
}

export function readTheme(name: ThemeName): ThemeFixture {
  return JSON.parse(readFileSync(themePath(name), 'utf8')) as ThemeFixture;
}
