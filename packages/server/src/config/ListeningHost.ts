/** What the host that a server listens on says of who can connect to it. */

/** Whether this machine alone can connect to a host. */
export const isLoopback = (host: string): boolean => /^(?:localhost|127\.[\d.]+|::1)$/i.test(host)

/** Those that stand for all addresses of this machine. */
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::"])

/** Whether a program on this machine reaches a server that listens on `host` by `name`. */
export const isReachedBy = (host: string, name: string): boolean =>
  name === host || (isLoopback(name) && (isLoopback(host) || wildcards.has(host)))
