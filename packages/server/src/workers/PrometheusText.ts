/** Metrics in the text format of Prometheus, as `PrometheusMetrics` writes it, of which several become one. */

interface Family {
  readonly help: string | undefined
  readonly type: string
  /** By name and labels, as they stand in the text. */
  readonly series: ReadonlyMap<string, number>
}

/** By name. */
export type Exposition = ReadonlyMap<string, Family>

export const empty: Exposition = new Map()

export const parse = (text: string): Exposition => {
  const families = new Map<string, Family>()
  let help: string | undefined
  let series = new Map<string, number>()
  for (const line of text.split("\n")) {
    const [, keyword, name, rest] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? []
    if (keyword === "HELP") {
      help = rest!
    } else if (keyword === "TYPE") {
      series = new Map()
      families.set(name!, { help, type: rest!, series })
      help = undefined
    } else if (line !== "") {
      // A label's value may hold spaces; a number holds none.
      const at = line.lastIndexOf(" ")
      series.set(line.slice(0, at), Number(line.slice(at + 1)))
    }
  }
  return families
}

/** What is one fact of all processes, or no quantity at all, is not added up. */
const greatest: ReadonlySet<string> = new Set(["nodejs_eventloop_lag_seconds", "tachograph_build_info"])

/** Adds series of the same name and labels; a histogram's buckets are such too. */
export const sum = (expositions: ReadonlyArray<Exposition>): Exposition => {
  const families = new Map<string, Omit<Family, "series"> & { readonly series: Map<string, number> }>()
  for (const exposition of expositions) {
    for (const [name, { help, series, type }] of exposition) {
      const family = families.get(name) ?? { help, type, series: new Map<string, number>() }
      families.set(name, family)
      const join = greatest.has(name) ? Math.max : (a: number, b: number) => a + b
      for (const [key, value] of series) {
        const before = family.series.get(key)
        family.series.set(key, before === undefined ? value : join(before, value))
      }
    }
  }
  return families
}

/** What only ever grows, and so holds of a process that has ended or does not answer. */
export const lasting = (exposition: Exposition): Exposition =>
  new Map(Array.from(exposition).filter(([, { type }]) => type !== "gauge"))

export const gauge = (name: string, help: string, value: number): Exposition =>
  new Map([[name, { help, type: "gauge", series: new Map([[name, value]]) }]])

export const render = (exposition: Exposition): string =>
  Array.from(exposition, ([name, { help, series, type }]) =>
    [
      ...(help === undefined ? [] : [`# HELP ${name} ${help}`]),
      `# TYPE ${name} ${type}`,
      ...Array.from(series, ([key, value]) => `${key} ${value}`),
      ""
    ].join("\n")
  ).join("")
