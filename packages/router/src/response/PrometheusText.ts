/** Parses, adds up and renders metrics in Prometheus' text format, as `PrometheusMetrics` writes it. */

interface Family {
  readonly help: string | undefined
  readonly type: string
  /** Values by name and labels, as written in the text. */
  readonly series: ReadonlyMap<string, number>
}

/** Metric families by name. */
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
      // The number follows the last space: label values may contain spaces.
      const separator = line.lastIndexOf(" ")
      series.set(line.slice(0, separator), Number(line.slice(separator + 1)))
    }
  }
  return families
}

/** Gauges whose sum over processes has no meaning: the maximum is used. */
const maxima: ReadonlySet<string> = new Set(["nodejs_eventloop_lag_seconds", "tachograph_build_info"])

/** Adds up the series with the same name and labels, including the buckets of histograms. */
export const sum = (expositions: ReadonlyArray<Exposition>): Exposition => {
  const families = new Map<string, Omit<Family, "series"> & { readonly series: Map<string, number> }>()
  for (const exposition of expositions) {
    for (const [name, { help, series, type }] of exposition) {
      const family = families.get(name) ?? { help, type, series: new Map<string, number>() }
      families.set(name, family)
      const combine = maxima.has(name) ? Math.max : (a: number, b: number) => a + b
      for (const [key, value] of series) {
        const previous = family.series.get(key)
        family.series.set(key, previous === undefined ? value : combine(previous, value))
      }
    }
  }
  return families
}

/** Counters and histograms, which stay valid after a process has exited or while it does not respond. */
export const withoutGauges = (exposition: Exposition): Exposition =>
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
