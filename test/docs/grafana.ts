// A Grafana dashboard as an importable file: a variable selects its data source.

export interface DashboardPlan {
  readonly source: { readonly variable: string; readonly label: string; readonly type: string };
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly unit: string;
    readonly type: 'timeseries' | 'table';
    /** Its query in the data source's format. */
    readonly target: Readonly<Record<string, unknown>>;
  }[];
}

const columns = 3;
const panelWidth = 8;
const panelHeight = 8;

export function dashboard({ source, uid, title, panels }: DashboardPlan): string {
  const datasource = { type: source.type, uid: `\${${source.variable}}` };
  const made = {
    __inputs: [
      {
        name: source.variable,
        label: source.label,
        type: 'datasource',
        pluginId: source.type,
        pluginName: source.label,
      },
    ],
    uid,
    title,
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    panels: panels.map((panel, at) => ({
      id: at + 1,
      type: panel.type,
      title: panel.title,
      datasource,
      gridPos: {
        x: (at % columns) * panelWidth,
        y: Math.floor(at / columns) * panelHeight,
        w: panelWidth,
        h: panelHeight,
      },
      fieldConfig: { defaults: { unit: panel.unit }, overrides: [] },
      targets: [{ refId: 'A', datasource, ...panel.target }],
    })),
  };
  return `${JSON.stringify(made, null, 2)}\n`;
}
