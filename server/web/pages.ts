// The two documents of the page: the shell, and the frame around one panel. Their scripts and
// styles are separate files, so that the policy allows nothing inline. URLs are relative, because a
// proxy may serve the page below a path.

export const shellPage = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>Drover</title>
<link rel="manifest" href="manifest.webmanifest">
<link rel="icon" href="icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="theme.css">
<link rel="stylesheet" href="page.css">
</head>
<body>
<script type="module" src="web.js"></script>
</body>
</html>
`;

/** The panel's own bundle. The first script replaces VS Code's API. */
export function framePage(name: string): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name}</title>
<link rel="stylesheet" href="../theme.css">
<link rel="stylesheet" href="../page.css">
</head>
<body class="panel vscode-dark">
<script src="../panel-api.js"></script>
<script type="module" src="../${name}.js"></script>
</body>
</html>
`;
}

export const manifest = JSON.stringify({
  name: 'Drover',
  short_name: 'Drover',
  description: 'Runs, questions and reviews of coding agents.',
  start_url: '.',
  display: 'standalone',
  icons: [{ src: 'icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any maskable' }],
});
