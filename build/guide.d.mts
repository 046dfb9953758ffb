export const guidePages: readonly string[];
export function guidePage(text: string): string;
