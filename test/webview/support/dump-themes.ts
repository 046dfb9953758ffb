// Writes themes/*.json again: the variables that VS Code gives a webview in each theme, read from a
// webview in the real workbench.
//   node test/webview/support/dump-themes.ts

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { contextOptions, launchBrowser } from '../../vscode/host/browser.ts';
import { startHost, workbenchUrl } from '../../vscode/host/host.ts';
import { temporaryFolder } from '../../vscode/host/isolation.ts';
import { type ThemeFixture, themeNames, themePath } from './themes.ts';

const manifest = {
  name: 'dump',
  publisher: 'test',
  version: '0.0.0',
  engines: { vscode: '^1.100.0' },
  main: './main.js',
  activationEvents: ['*'],
};

const extension = `
const vscode = require('vscode');
exports.activate = () => {
  const panel = vscode.window.createWebviewPanel('dump', 'Dump', 1, { enableScripts: true });
  panel.webview.html = '<!DOCTYPE html><html><head></head><body><p>dump</p></body></html>';
};`;

/** The style of a webview's root element, and its body's attributes of the theme. */
function readTheme(): ThemeFixture {
  const { style } = document.documentElement;
  const variables = Object.fromEntries(
    Array.from(style, (name) => [name, style.getPropertyValue(name)]),
  );
  const { body } = document;
  return {
    variables,
    bodyClass: body.className,
    bodyData: Object.fromEntries(
      Object.entries(body.dataset).map(([name, value]) => [name, value ?? '']),
    ),
    defaultStyles: document.querySelector('#_defaultStyles')?.textContent ?? '',
  };
}

const folder = temporaryFolder();
const own = join(folder, 'ext', 'test.dump-0.0.0');
mkdirSync(own, { recursive: true });
writeFileSync(join(own, 'package.json'), JSON.stringify(manifest));
writeFileSync(join(own, 'main.js'), extension);
const browser = await launchBrowser();
mkdirSync(join(import.meta.dirname, 'themes'), { recursive: true });
for (const name of themeNames) {
  const host = await startHost({
    extensionsFolder: join(folder, 'ext'),
    settings: { 'workbench.colorTheme': name },
  });
  const page = await browser.newPage(contextOptions);
  await page.goto(workbenchUrl(host));
  const outer = await page.waitForSelector('iframe.webview.ready', { timeout: 60_000 });
  const frame = await (await outer.contentFrame())?.waitForSelector('#active-frame');
  const inner = await frame?.contentFrame();
  await inner?.waitForSelector('p');
  const theme = await inner?.evaluate(readTheme);
  if (theme === undefined) throw new Error(`the webview of ${name} did not show`);
  writeFileSync(themePath(name), `${JSON.stringify(theme, null, 1)}\n`);
  console.log(`${name}: ${Object.keys(theme.variables).length} variables`);
  await page.close();
  await host.stop();
}
await browser.close();
