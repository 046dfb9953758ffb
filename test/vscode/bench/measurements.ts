// Receives the webviews' measurements of themselves, in the page, as they report them to the
// extension.

import type { BrowserContext, Frame } from '../host/browser.ts';

export interface Measured {
  readonly name: string;
  readonly ms: number;
  /** When it was reported, Unix milliseconds. */
  readonly atMs: number;
}

export async function hearMeasurements(context: BrowserContext): Promise<void> {
  await context.addInitScript(listenInPage);
}

export async function measurementsOf(frame: Frame): Promise<readonly Measured[]> {
  return await frame.evaluate(() => {
    return (globalThis as Listening).droverMeasured ?? [];
  });
}

const waitMaxMs = 60_000;

interface Listening {
  droverMeasured?: Measured[];
  droverListener?: ((measured: Measured) => void) | null;
  droverNext?: Promise<Measured>;
}

/** Receives the next measurement of this name from now on, without polling the page. */
export async function listenFor(frame: Frame, name: string): Promise<() => Promise<Measured>> {
  await frame.evaluate((wanted) => {
    const page = globalThis as Listening;
    page.droverNext = new Promise((resolve) => {
      page.droverListener = (measured) => {
        if (measured.name === wanted) resolve(measured);
      };
    });
  }, name);
  return async () => {
    const { promise: late, reject } = Promise.withResolvers<never>();
    const why = `Waited ${waitMaxMs / 1000} s for the measurement "${name}", which was not told.`;
    const timer = setTimeout(() => reject(new Error(why)), waitMaxMs);
    const next = frame.evaluate(() => (globalThis as Listening).droverNext as Promise<Measured>);
    try {
      return await Promise.race([next, late]);
    } finally {
      clearTimeout(timer);
    }
  };
}

interface Asked {
  readonly name?: string;
  readonly params?: { name: string; ms: number };
}

/**
 * VS Code exposes its API to the page as a global: messages posted through it are read on their
 * way.
 */
function listenInPage(): void {
  const heard: Measured[] = [];
  interface Api {
    postMessage(message: unknown): void;
  }
  let acquire: (() => Api) | undefined;
  const listening = (): Api => {
    const api = acquire?.();
    if (api === undefined) throw new Error('VS Code has given no API to this page');
    return Object.freeze({
      ...api,
      postMessage(message: { asks?: readonly Asked[] }) {
        for (const { name, params } of message.asks ?? []) {
          if (name !== 'measured' || params === undefined) continue;
          const measured = { ...params, atMs: Date.now() };
          heard.push(measured);
          (globalThis as Listening).droverListener?.(measured);
        }
        api.postMessage(message);
      },
    });
  };
  Object.assign(globalThis, { droverMeasured: heard });
  Object.defineProperty(globalThis, 'acquireVsCodeApi', {
    configurable: true,
    get: () => acquire && listening,
    set: (given: () => Api) => {
      // The page's own wrapper comes second: it stays as it is, around ours.
      if (acquire === undefined) acquire = given;
      else Object.defineProperty(globalThis, 'acquireVsCodeApi', { value: given });
    },
  });
}
