// Types of the install script, which must run before anything is installed.

/** Installs the test host, once; resolves with the full path of the browser. */
export declare function ensureHost(): Promise<{ readonly chromium: string }>;
export declare function findChromium(): string | null;
