// The pages that the extension contains, so that they can be read offline: a link to a page that is
// not included becomes plain text.

export const guidePages = ['settings.md', 'webhooks.md', 'telemetry.md', 'retention.md'];

/** @param {string} text */
export function guidePage(text) {
  return text.replace(/\[([^\]]*)\]\(([^)\s]+)\)/gu, (link, words, target) => {
    const [file] = target.split('#', 1);
    const isKept = file === '' || guidePages.includes(file) || /^https?:/u.test(target);
    return isKept ? link : words;
  });
}
