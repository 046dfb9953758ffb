// The environment of every process of a test's VS Code: a separate home, a short temporary folder,
// and nothing of the user who runs the tests.

import { mkdtempSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A fresh folder with a short name: unix sockets live below it, and their paths end at 108 bytes. */
export function temporaryFolder(): string {
  return realpathSync(mkdtempSync(join(process.env['DROVER_TEST_TMP'] ?? '/tmp', 'vsh-')));
}

/** An explicit environment; the folder's name in it makes the test's processes findable. */
export function isolatedEnvironment(
  folder: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    LANG: 'C.UTF-8',
    SHELL: '/bin/bash',
    HOME: folder,
    XDG_DATA_HOME: join(folder, 'xdg'),
    XDG_CONFIG_HOME: join(folder, 'xdgc'),
    XDG_RUNTIME_DIR: folder,
    EXTENSIONS_GALLERY: '{}',
    GIT_CONFIG_NOSYSTEM: '1',
    DROVER_SANDBOX: 'off',
    ...more,
  };
}
