/** The options of `tachograph serve` for people who sign in at a provider of OpenID Connect. */
import { defaultProject, ProjectId, Scope, TimeSpan } from "@tachograph/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as FileSettings from "../config/FileSettings.ts"
import { isLoopback } from "../config/ListeningHost.ts"
import * as Setting from "../config/Setting.ts"
import type { GroupGrant, Options } from "../signin/Options.ts"
import { UsageError } from "../terminal/CliErrors.ts"

/** Without TLS, whoever is between could sign in as anybody, and browsers keep no cookie that is safe: on this machine nobody is. */
const parseUrl = (text: string): Option.Option<URL> =>
  Option.filter(
    Option.fromNullishOr(URL.parse(text)),
    ({ hash, hostname, password, protocol, search, username }) =>
      (protocol === "https:" || (protocol === "http:" && isLoopback(hostname.replace(/^\[|\]$/g, "")))) &&
      [hash, search, username, password].every((part) => part === "")
  )

const urlRule = "an address with https, or with http on this machine, without query"

const issuer = Setting.make({
  name: "oidc-issuer",
  metavar: "URL",
  description: "The provider of OpenID Connect at which people sign in",
  default: "none",
  expected: `${urlRule}, or none`,
  parse: (text): Option.Option<URL | undefined> => (text === "none" ? Option.some(undefined) : parseUrl(text))
})

const text = (name: string, metavar: string, description: string, defaultText?: string) =>
  Setting.make({
    name,
    metavar,
    description,
    default: defaultText,
    expected: "a text without control characters",
    parse: Option.liftPredicate((given: string) => given.trim() !== "" && !/\p{Cc}/u.test(given))
  })

const clientId = text("oidc-client-id", "ID", "The name of this server at the provider")
const scope = text(
  "oidc-scope",
  "SCOPES",
  "The scopes that the provider is asked for, with spaces between them",
  "openid profile email"
)
const groupsClaim = text("oidc-groups-claim", "NAME", "The claim that holds a person's groups", "groups")

const clientSecret = Setting.makeSecret("oidc-client-secret")

const baseUrl = Setting.make({
  name: "oidc-url",
  metavar: "URL",
  description:
    "Where browsers find this server; the provider leads back to URL/callback. By default the address that it listens on",
  default: undefined,
  expected: urlRule,
  parse: (text) => Option.map(parseUrl(text), ({ href }) => href.replace(/\/+$/, ""))
})

const session = Setting.make({
  name: "oidc-session",
  metavar: "TIME",
  description: "How long a person stays signed in",
  default: "12h",
  expected: "a time from 1m to 30d, such as 30m, 12h or 7d",
  parse: (text) => Option.filter(TimeSpan.parse(text), (time) => Duration.isLessThanOrEqualTo(time, Duration.days(30)))
})

const decodeGrant = Schema.decodeUnknownOption(
  Schema.Struct({ group: Schema.NonEmptyString, project: ProjectId, scopes: Schema.NonEmptyArray(Scope) })
)

/** Names of groups may hold `=`, as those of LDAP do, and those of projects `:`. */
const parseGrant = (text: string): Option.Option<GroupGrant> => {
  const [, group, project, scopes = ""] = /^(.+)=(?:(.+):)?([a-z,]+)$/s.exec(text) ?? []
  return decodeGrant({ group, project: project ?? defaultProject, scopes: Array.from(new Set(scopes.split(","))) })
}

const group = Setting.makeRepeatable({
  name: "oidc-group",
  metavar: "GROUP=PROJECT:SCOPES",
  description: `What the people of a group may do, repeatable: record, read, admin, or several with commas; without PROJECT: in ${defaultProject}`,
  expected:
    "GROUP=SCOPES or GROUP=PROJECT:SCOPES, SCOPES being record, read, admin, or several with commas between them",
  parse: parseGrant,
  redact: (text) => text
})

export const flags = {
  oidcIssuer: issuer.flag,
  oidcClientId: clientId.flag,
  oidcClientSecretFile: FileSettings.clientSecret.flag,
  oidcUrl: baseUrl.flag,
  oidcGroup: group.flag,
  oidcGroupsClaim: groupsClaim.flag,
  oidcScope: scope.flag,
  oidcSession: session.flag
}

type Given = { readonly [Name in Exclude<keyof typeof flags, "oidcGroup">]: Option.Option<string> } & {
  readonly oidcGroup: ReadonlyArray<string>
}

interface Serving {
  readonly host: string
  readonly port: number
  readonly viewer: boolean
}

const fail = (message: string) => Effect.fail(new UsageError({ message }))

const secretOf = Effect.fnUntraced(function* (given: Given) {
  const secret = (yield* FileSettings.clientSecret.resolve(given.oidcClientSecretFile)) ?? (yield* clientSecret.resolve)
  return secret ?? (yield* fail(`--oidc-issuer needs ${clientSecret.variable}, or --oidc-client-secret-file`))
})

const baseUrlOf = Effect.fnUntraced(function* (given: Given, { host, port }: Serving) {
  const url = yield* baseUrl.resolveOption(given.oidcUrl)
  if (Option.isSome(url)) return url.value
  if (isLoopback(host) && port !== 0) return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
  return yield* fail("--oidc-url is missing: it is the address at which browsers find this server")
})

/** The first of the options that mean nothing without `--oidc-issuer`. */
const unusedOf = (given: Given): string | undefined =>
  clientId.sourceOf(given.oidcClientId) ??
  baseUrl.sourceOf(given.oidcUrl) ??
  group.sourceOf(given.oidcGroup) ??
  groupsClaim.sourceOf(given.oidcGroupsClaim) ??
  scope.sourceOf(given.oidcScope) ??
  session.sourceOf(given.oidcSession)

/** Undefined without `--oidc-issuer`: then people have keys. */
export const resolve = Effect.fnUntraced(function* (given: Given, serving: Serving) {
  const provider = yield* issuer.resolve(given.oidcIssuer)
  if (provider === undefined) {
    const unused = unusedOf(given)
    return unused === undefined ? undefined : yield* fail(`${unused} needs --oidc-issuer`)
  }
  if (!serving.viewer) return yield* fail("--oidc-issuer needs the viewer, and --viewer is off")
  const grants = yield* group.resolve(given.oidcGroup)
  if (grants.length === 0) return yield* fail("--oidc-issuer needs --oidc-group: otherwise nobody may do anything")
  const asked = yield* scope.resolve(given.oidcScope)
  if (!asked.split(" ").includes("openid")) return yield* fail("--oidc-scope must have openid among its scopes")
  const options: Options = {
    issuer: provider,
    clientId: yield* clientId.resolve(given.oidcClientId),
    clientSecret: yield* secretOf(given),
    baseUrl: yield* baseUrlOf(given, serving),
    scope: asked,
    groupsClaim: yield* groupsClaim.resolve(given.oidcGroupsClaim),
    grants,
    lifetimeMs: Duration.toMillis(yield* session.resolve(given.oidcSession))
  }
  return options
})
