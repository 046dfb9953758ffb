// Accessibility by axe-core: no violation at all, even of mere good practice.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults, RunOptions } from 'axe-core';
import type { Frame, Page } from '../../vscode/host/browser.ts';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A webview is a part of VS Code's page, which has the landmarks and the headings around it. */
const options: RunOptions = {
  // Of the others, names are enough: to describe each of their elements takes as long as to find them.
  resultTypes: ['violations'],
  rules: {
    region: { enabled: false },
    'page-has-heading-one': { enabled: false },
    'landmark-one-main': { enabled: false },
  },
};

export async function checkAxe(page: Page | Frame): Promise<void> {
  assert.deepEqual(await axeViolations(page), []);
}

/** One line for each violation: the rule, its demand, and the element. */
export async function axeViolations(page: Page | Frame): Promise<string[]> {
  await page.evaluate(source);
  const violations = await page.evaluate(runAxe, options);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html, any }) => {
      const why = any.map(({ message }) => message).join('; ');
      return `${id}: ${help}: ${target.flat().join(' ')} ${html.slice(0, 200)} ${why}`;
    }),
  );
}

async function runAxe(given: RunOptions): Promise<AxeResults['violations']> {
  const view = window as unknown as {
    axe: { run(root: Document, options: RunOptions): Promise<AxeResults> };
  };
  return (await view.axe.run(document, given)).violations;
}
