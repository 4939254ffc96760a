/** URLs with several hosts, as libpq takes them: `postgres://user:password@one:5432,two:5432/database`. */

/** The parts before the hosts, the hosts, and what follows; undefined if the text is no URL for Postgres. */
const parts = (text: string): readonly [before: string, hosts: string, after: string] | undefined => {
  const [, before, hosts, after] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(text) ?? []
  return before === undefined ? undefined : [before, hosts!, after!]
}

/** The same URL for each of its hosts, in their order. What is no URL for Postgres stays as it is, also a variable that is not set. */
export const urls = (text: string): ReadonlyArray<string> => {
  const [before, hosts, after] = parts(text) ?? ["", String(text), ""]
  return hosts.split(",").map((host) => before + host + after)
}

/** The URL of a host, with all hosts of another one in place of it. */
export const withHostsOf = (url: string, text: string): string => {
  const [before, , after] = parts(url)!
  return before + namesOf(text) + after
}

/** The hosts with their ports, as they are written. */
export const namesOf = (text: string): string => parts(text)?.[1] ?? ""
