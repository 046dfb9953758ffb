// Keys that the manifest declares for the task tree, so that menus show them, people can add
// others, and VS Code does nothing else with them. Pure.

/**
 * The tree's page has already acted on the key by then: it gets each one first, and at once, also
 * where the extension is far away. So the declared binding only names the command.
 */
export function isKeyOfTree([first]: readonly unknown[]): boolean {
  return typeof first === 'object' && first !== null && 'key' in first && first.key === 'tree';
}
