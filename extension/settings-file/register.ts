// Completion and hovers in `.drover.toml`. If a TOML extension is installed, it offers the same
// from the schema that the manifest names, so nothing is registered.

import * as vscode from 'vscode';
import { listOffers, findSetting, type SettingSchema } from './toml-help.ts';

const tomlExtension = 'tamasfe.even-better-toml';
const selector: vscode.DocumentSelector = { pattern: '**/.drover.toml' };

const kinds = {
  key: vscode.CompletionItemKind.Property,
  table: vscode.CompletionItemKind.Module,
  value: vscode.CompletionItemKind.Value,
} as const;

export function registerSettingsHelp(extensionUri: vscode.Uri): vscode.Disposable {
  if (vscode.extensions.getExtension(tomlExtension) !== undefined) {
    return new vscode.Disposable(() => undefined);
  }
  let read: Promise<SettingSchema> | null = null;
  const schema = (): Promise<SettingSchema> => (read ??= readSchema(extensionUri));
  return vscode.Disposable.from(
    vscode.languages.registerCompletionItemProvider(
      selector,
      {
        async provideCompletionItems(document, position) {
          const { line, character } = position;
          const offers = listOffers(await schema(), linesOf(document), line, character);
          return offers.map(({ kind, label, text, about }) => {
            const item = new vscode.CompletionItem(label, kinds[kind]);
            item.insertText = text;
            item.documentation = new vscode.MarkdownString(about);
            const range = document.getWordRangeAtPosition(position, /[\w-]+/u);
            if (range !== undefined) item.range = range;
            return item;
          });
        },
      },
      '[',
      '"',
    ),
    vscode.languages.registerHoverProvider(selector, {
      async provideHover(document, position) {
        const range = document.getWordRangeAtPosition(position, /[\w-]+/u);
        if (range === undefined) return null;
        const lines = linesOf(document);
        const found = findSetting(await schema(), lines, position.line, document.getText(range));
        if (found === null) return null;
        const text = `**${found.name}**\n\n${found.about}`;
        return new vscode.Hover(new vscode.MarkdownString(text), range);
      },
    }),
  );
}

function linesOf(document: vscode.TextDocument): readonly string[] {
  return document.getText().split(/\r?\n/u);
}

async function readSchema(extensionUri: vscode.Uri): Promise<SettingSchema> {
  const file = vscode.Uri.joinPath(extensionUri, 'media', 'drover.schema.json');
  const bytes = await vscode.workspace.fs.readFile(file);
  return JSON.parse(new TextDecoder().decode(bytes)) as SettingSchema;
}
