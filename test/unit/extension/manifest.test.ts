// The manifest and the code name the same commands, settings, views, panels and context keys: both ways.

import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  commandIds,
  contextKeys,
  machinesViewId,
  panelNames,
  sideViews,
  walkthroughId,
  webviewIds,
  workersViewId,
} from '../../../extension/ids.ts';
import { actionOfKey, isKeyOfTree } from '../../../extension/commands/tree-keys.ts';
import { settingTable } from '../../../extension/project/settings-table.ts';
import { runnableStatuses, taskStatuses } from '../../../server/core/plan/state.ts';
import { personToolNames, personTools } from '../../../server/protocol/person-tools/tools.ts';
import { droverVersion } from '../../../server/protocol/version.ts';
import { declaredAction, treeKey } from '../../../webview/tree/keys.ts';
import { keybindingsOf, pressed } from '../../webview/support/keybindings.ts';

const root = resolve(import.meta.dirname, '../../..');

interface MenuItem {
  readonly command: string;
  readonly when?: string;
}

interface Keybinding extends MenuItem {
  readonly key: string;
  readonly args?: unknown;
}

interface Manifest {
  readonly version: string;
  readonly main: string;
  readonly icon: string;
  readonly engines: { readonly vscode: string };
  readonly extensionKind: readonly string[];
  readonly activationEvents: readonly string[];
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly capabilities: {
    readonly untrustedWorkspaces: {
      readonly supported: string;
      readonly restrictedConfigurations: readonly string[];
    };
    readonly virtualWorkspaces: { readonly supported: boolean; readonly description: string };
  };
  readonly contributes: {
    readonly commands: readonly { command: string; title: string; enablement?: string }[];
    readonly menus: Readonly<Record<string, readonly MenuItem[]>>;
    readonly keybindings: readonly Keybinding[];
    readonly views: Readonly<
      Record<string, readonly { id: string; type?: string; icon: string; when?: string }[]>
    >;
    readonly viewsContainers: {
      readonly activitybar: readonly { id: string; icon: string }[];
    };
    readonly configuration: {
      readonly properties: Readonly<
        Record<string, { type: string; default: unknown; scope: string; enum?: readonly string[] }>
      >;
    };
    readonly languageModelTools: readonly {
      readonly name: string;
      readonly displayName: string;
      readonly userDescription: string;
      readonly modelDescription: string;
      readonly inputSchema: unknown;
      readonly when: string;
      readonly canBeReferencedInPrompt: boolean;
      readonly toolReferenceName: string;
    }[];
    readonly chatSkills: readonly { readonly path: string }[];
    readonly mcpServerDefinitionProviders: readonly { readonly id: string }[];
    readonly tomlValidation: readonly { readonly fileMatch: string; readonly url: string }[];
    readonly walkthroughs: readonly {
      id: string;
      steps: readonly {
        description: string;
        media: { markdown: string };
        completionEvents?: readonly string[];
      }[];
    }[];
  };
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const { contributes } = manifest;

suite('extension manifest', () => {
  test('it lists every command of the code, and no other', () => {
    const declared = contributes.commands.map(({ command }) => command).sort();
    assert.deepEqual(declared, [...commandIds].sort());
  });

  test('menus, keys and the walkthrough name only known commands', () => {
    const known = new Set<string>(commandIds);
    const named = [...Object.values(contributes.menus).flat(), ...contributes.keybindings].map(
      ({ command }) => command,
    );
    const inText = contributes.walkthroughs
      .flatMap(({ steps }) => steps)
      .flatMap(({ description }) => [...description.matchAll(/command:([\w.]+)/g)])
      .map(([, command]) => command ?? '');
    assert.deepEqual(
      [...named, ...inText].filter((command) => !known.has(command)),
      [],
    );
  });

  test('it has the settings of the code with their types, defaults, scopes and choices', () => {
    const declared = Object.entries(contributes.configuration.properties).map(
      ([name, { type, default: fallback, scope, enum: choices }]) => [
        name,
        { type, fallback, scope, ...(choices === undefined ? {} : { choices }) },
      ],
    );
    const wanted = Object.entries(settingTable).map(([name, definition]) => [
      `drover.${name}`,
      definition,
    ]);
    assert.deepEqual(Object.fromEntries(declared), Object.fromEntries(wanted));
  });

  test('each setting is written to a target that its scope allows', () => {
    const writes = globSync('extension/**/*.ts', { cwd: root }).flatMap((file) => {
      const text = readFileSync(join(root, file), 'utf8');
      return [...text.matchAll(/\.update\(\s*(\w+|'\w+'),[^;]*?ConfigurationTarget\.(\w+)/g)].map(
        ([, name = '', target = '']) => ({ file, name, target }),
      );
    });
    assert.ok(writes.length > 0);
    const isAllowed = ({ name, target }: { name: string; target: string }): boolean => {
      if (target === 'Global') return true;
      // The setting's name must be readable here: the scope depends on it.
      const scope = contributes.configuration.properties[`drover.${name.slice(1, -1)}`]?.scope;
      return scope === 'resource' || (scope === 'window' && target === 'Workspace');
    };
    assert.deepEqual(
      writes.filter((write) => !isAllowed(write)),
      [],
    );
  });

  test('it has the views and panels of the code', () => {
    const views = contributes.views['drover']?.map(({ id, type }) => ({ id, type }));
    assert.deepEqual(views, [
      ...sideViews.map((name) => ({ id: webviewIds[name], type: 'webview' })),
      { id: workersViewId, type: undefined },
      { id: machinesViewId, type: undefined },
    ]);
    assert.deepEqual(
      contributes.viewsContainers.activitybar.map(({ id }) => id),
      ['drover'],
    );
    for (const name of panelNames) {
      assert.ok(manifest.activationEvents.includes(`onWebviewPanel:${webviewIds[name]}`), name);
    }
  });

  test('its conditions use only context keys that the code sets', () => {
    const conditions = [...Object.values(contributes.menus).flat(), ...contributes.keybindings].map(
      ({ when }) => when ?? '',
    );
    conditions.push(
      ...Object.values(contributes.views).flatMap((all) => all.map(({ when }) => when ?? '')),
    );
    const enablements = contributes.commands.map(({ enablement }) => enablement ?? '');
    const asked = [...conditions, ...enablements].flatMap((condition) =>
      [...condition.matchAll(/(?<!['/^\w.])drover\.\w+/g)].map(([key]) => key),
    );
    const ownTrees = [workersViewId, machinesViewId];
    const views = new Set<string>([...Object.values(webviewIds), ...ownTrees]);
    const unknown = asked.filter(
      (key) => !(contextKeys as readonly string[]).includes(key) && !views.has(key),
    );
    assert.deepEqual(unknown, []);
  });

  test('it has the language model tools of the code, word for word', () => {
    const declared = contributes.languageModelTools.map((tool) => [
      tool.name,
      tool.displayName,
      tool.userDescription,
      tool.modelDescription,
      tool.inputSchema,
    ]);
    const wanted = personToolNames.map((name) => {
      const { title, description, modelDescription, inputSchema } = personTools[name];
      return [name, `Drover: ${title}`, description, modelDescription, inputSchema];
    });
    assert.deepEqual(declared, wanted);
    for (const { when, canBeReferencedInPrompt } of contributes.languageModelTools) {
      assert.equal(when, 'drover.hasProject');
      assert.equal(canBeReferencedInPrompt, true);
    }
    const names = contributes.languageModelTools.map(({ toolReferenceName }) => toolReferenceName);
    assert.equal(new Set(names).size, personToolNames.length);
  });

  test('it teaches assistants to plan with existing tools', () => {
    const [skill] = contributes.chatSkills;
    const text = readFileSync(join(root, skill?.path ?? ''), 'utf8');
    const [, name] = /^name: (.+)$/mu.exec(text) ?? [];
    assert.equal(skill?.path, `./media/skills/${name}/SKILL.md`, 'VS Code loads it by this name');
    const named = [...text.matchAll(/#(drover\w+)/gu)].map(([, tool]) => tool);
    const known = contributes.languageModelTools.map(({ toolReferenceName }) => toolReferenceName);
    assert.ok(named.length > 4);
    assert.deepEqual(
      named.filter((tool) => !known.includes(tool ?? '')),
      [],
    );
  });

  test('it lets editors check .drover.toml, and opens links', () => {
    const [schema] = contributes.tomlValidation;
    assert.equal(schema?.fileMatch, '.drover.toml');
    assert.ok(existsSync(join(root, schema?.url ?? '')));
    assert.ok(manifest.activationEvents.includes('onUri'));
    assert.deepEqual(
      contributes.mcpServerDefinitionProviders.map(({ id }) => id),
      ['drover.mcp'],
    );
  });

  test('it declares the keys that the tree leaves to VS Code, and no key that a webview handles', () => {
    const declared = keybindingsOf('tree');
    assert.ok(declared.length > 8);
    for (const { command, key, args } of declared) {
      assert.equal(treeKey(pressed(key)), null, key);
      const id = commandIds.find((each) => each === command);
      assert.ok(id !== undefined, command);
      assert.notEqual(actionOfKey(id), null, command);
      assert.equal(declaredAction(pressed(key)), actionOfKey(id), key);
      assert.ok(isKeyOfTree([args]), key);
    }
    // Only the tree has keys of its own: every other one is of the whole window.
    const others = contributes.keybindings.filter(({ args }) => !isKeyOfTree([args]));
    assert.equal(declared.length + others.length, contributes.keybindings.length);
    assert.ok(others.every(({ key }) => key.startsWith('ctrl+alt+shift+')));
    const inMenu = contributes.menus['webview/context']?.map(({ command }) => command) ?? [];
    const shown = ['openStream', 'rename', 'remove', 'moveUp', 'duplicate', 'newTask'];
    for (const name of shown) {
      assert.ok(inMenu.includes(`drover.${name}`), name);
      assert.ok(
        declared.some(({ command }) => command === `drover.${name}`),
        name,
      );
    }
  });

  test('it offers a task in the menus of a failed test and of its message', () => {
    const failed = 'drover.hasProject && testResultState =~ /^(failed|errored)$/';
    for (const [menu, when] of [
      ['testing/item/context', failed],
      ['testing/item/result', failed],
      ['testing/message/context', 'drover.hasProject'],
    ] as const) {
      const [item] = contributes.menus[menu] ?? [];
      assert.deepEqual([item?.command, item?.when], ['drover.makeTask', when], menu);
    }
  });

  test('it offers to run one task in the same states as the handler', () => {
    const items = contributes.menus['webview/context'] ?? [];
    const when = items.find(({ command }) => command === 'drover.runTask')?.when ?? '';
    const pattern = /status =~ \/(\^[^/]+\$)\//u.exec(when)?.[1] ?? 'none';
    const offered = taskStatuses.filter((status) => new RegExp(pattern, 'u').test(status));
    assert.deepEqual(offered.toSorted(), runnableStatuses.toSorted());
  });

  test('it offers to undo a landed epic and a landed task, but no other epic', () => {
    const items = contributes.menus['webview/context'] ?? [];
    const undo = items.filter(({ command }) => command === 'drover.undoLanding');
    const whens = undo.map(({ when = '' }) => when.replace('webviewId =~ /^drover\\./ && ', ''));
    assert.deepEqual(whens, [
      "webviewSection =~ /^(task|attempt)$/ && status == 'completed'",
      "webviewSection == 'epic' && status == 'landed'",
    ]);
  });

  test('it offers to land a candidate that can be chosen, instead of its approval', () => {
    const items = contributes.menus['webview/context'] ?? [];
    const whens = ['approve', 'landCandidate'].map((name) => {
      const ofTask = items.find(
        ({ command, when = '' }) =>
          command === `drover.${name}` && when.includes("webviewSection == 'task'"),
      );
      return ofTask?.when?.split("status == 'needs_review' && ")[1];
    });
    assert.deepEqual(whens, ['!candidate', 'candidate']);
    const { title } = contributes.commands.find(
      ({ command }) => command === 'drover.landCandidate',
    ) ?? { title: '' };
    assert.equal(title, 'Land This One');
  });

  test('a step of the walkthrough is completed by its outcome, not by opening a dialog', () => {
    const events = contributes.walkthroughs.flatMap(({ steps }) =>
      steps.flatMap(({ completionEvents = [] }) => completionEvents),
    );
    assert.ok(events.length >= 4);
    for (const event of events) assert.match(event, /^(onContext|onSettingChanged):drover\./u);
  });

  test('an untrusted workspace can set no setting that starts programs', () => {
    const { restrictedConfigurations, supported } = manifest.capabilities.untrustedWorkspaces;
    assert.equal(supported, 'limited');
    for (const name of ['agent', 'agentPath', 'gate', 'apiKeyVariable']) {
      assert.ok(restrictedConfigurations.includes(`drover.${name}`), name);
    }
  });

  test('no workspace can set the agents, the landing, the location of the key, or the questions before a run', () => {
    const { properties } = contributes.configuration;
    for (const name of ['agent', 'agentPath', 'gate', 'land', 'apiKeyVariable']) {
      assert.equal(properties[`drover.${name}`]?.scope, 'machine', name);
    }
    assert.equal(properties['drover.showPreflight']?.scope, 'application');
    const ofWorkspaces = Object.keys(properties).filter((name) =>
      ['resource', 'window', undefined].includes(properties[name]?.scope),
    );
    assert.deepEqual(ofWorkspaces.sort(), [
      'drover.notifications',
      'drover.osNotifications',
      'drover.statusBar',
      'drover.workers',
    ]);
  });

  test('it runs where the workspace is, and declares that it does not work in the browser', () => {
    assert.deepEqual(manifest.extensionKind, ['workspace']);
    assert.equal(manifest.capabilities.virtualWorkspaces.supported, false);
    assert.match(manifest.capabilities.virtualWorkspaces.description, /browser/);
    assert.equal(manifest.main, './dist/extension.cjs');
  });

  test('it requires the VS Code whose types it is written against', () => {
    assert.equal(manifest.engines.vscode, `^${manifest.devDependencies['@types/vscode']}`);
    assert.equal(manifest.version, droverVersion);
  });

  test('it names only existing files', () => {
    const [container] = contributes.viewsContainers.activitybar;
    const walkthrough = contributes.walkthroughs.find(({ id }) => id === walkthroughId);
    const files = [
      manifest.icon,
      container?.icon ?? '',
      ...(walkthrough?.steps.map(({ media }) => media.markdown) ?? []),
    ];
    assert.equal(files.length, 6);
    // The package copies them from the documents beside their pages.
    for (const page of files.filter((file) => file.endsWith('.md'))) {
      const [, picture] =
        /!\[[^\]]+\]\(\.\/(.+\.png)\)/u.exec(readFileSync(join(root, page), 'utf8')) ?? [];
      files.push(`docs/images/${picture}`);
    }
    assert.deepEqual(
      files.filter((file) => !existsSync(join(root, file))),
      [],
    );
  });
});
