// A reviewing agent as a program of node.

/**
 * Uses Drover's MCP server: lists its tools, submits the verdict `verdict(text)` on a file, and
 * reads every answer.
 */
export const reviewer = (verdict: string, file = 'cart.txt'): string => `
  const { spawn } = require("node:child_process");
  const fs = require("node:fs");
  let probe = "written";
  try { fs.writeFileSync("probe.txt", "x"); } catch (error) { probe = error.code; }
  const text = fs.readFileSync("${file}", "utf8");
  const server = spawn(process.env.DROVER_MCP_COMMAND, JSON.parse(process.env.DROVER_MCP_ARGS), { stdio: ["pipe", "pipe", "inherit"] });
  const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  const { criteria, ...given } = (${verdict})(text, probe);
  const call = (id, judged) => send({ id, method: "tools/call", params: { name: "submit_review", arguments: { ...given, criteria: judged } } });
  send({ id: 1, method: "initialize", params: { protocolVersion: "2025-03-26", capabilities: {}, clientInfo: { name: "t", version: "1" } } });
  let rest = "";
  server.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\\n");
    rest = lines.pop();
    for (const line of lines.filter(Boolean)) {
      const { id, result, error } = JSON.parse(line);
      if (id === 1) { send({ method: "notifications/initialized" }); send({ id: 2, method: "tools/list" }); }
      if (id === 2) { console.log("tools " + result.tools.map((tool) => tool.name)); call(3, criteria.slice(1)); }
      if (id === 3) { console.log("refused " + result.content[0].text); call(4, criteria); }
      if (id === 4) { console.log("stored " + (result ?? error).content[0].text); server.kill(); process.exit(0); }
    }
  });
`;
