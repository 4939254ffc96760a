/**
 * The cookies of signing in. `__Host-` has browsers take them from this host only, over a connection that nobody else can write to, and for
 * all of its paths. No script reads them.
 */

type Headers = Readonly<Record<string, string | undefined>>

interface Cookie {
  readonly name: string
  readonly attributes: string
}

/**
 * Who has signed in. `Strict`: no page of another site, and no link there, makes a browser send it. The pages need none to be loaded; what
 * they ask for is asked by themselves.
 */
export const session: Cookie = { name: "__Host-tachograph", attributes: "Path=/; Secure; HttpOnly; SameSite=Strict" }

/** What a sign-in began with. `Lax`, because it is the provider's page that leads back. */
export const login: Cookie = { name: "__Host-tachograph-login", attributes: "Path=/; Secure; HttpOnly; SameSite=Lax" }

/** The token that some providers want to see at the end. Only the path `/logout` gets it: it may be long. */
export const idToken = (path: string): Cookie => ({
  name: "__Secure-tachograph-id",
  attributes: `Path=${path}; Secure; HttpOnly; SameSite=Strict`
})

/** The value of the first cookie of the name. */
export const valueIn = (headers: Headers, { name }: Cookie): string | undefined =>
  headers["cookie"]
    ?.split(/; ?/)
    .find((cookie) => cookie.startsWith(`${name}=`))
    ?.slice(name.length + 1)

export const set = ({ attributes, name }: Cookie, value: string, maxAgeMs: number): string =>
  `${name}=${value}; ${attributes}; Max-Age=${Math.floor(maxAgeMs / 1_000)}`

export const clear = (cookie: Cookie): string => set(cookie, "", 0)
