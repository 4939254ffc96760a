/** A provider of OpenID Connect, which can be told to answer wrongly. */
import OidcProvider from "oidc-provider"
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { text } from "node:stream/consumers"
import { onTestFinished, vi } from "vitest"

export const clientId = "tachograph"
export const clientSecret = "the secret of a client, which no page says"

/** The people of the provider. */
const groups: Readonly<Record<string, ReadonlyArray<string>>> = {
  ann: ["staff"],
  ben: ["staff", "cn=ops,ou=groups"],
  cas: ["acme"],
  dee: ["visitors"],
  eve: []
}

type Claims = Readonly<Record<string, unknown>>

export interface Provider {
  readonly url: string
  /** Changes what the token endpoint answers: with an `error` it is one (400). */
  forge: ((answer: Claims) => Claims) | undefined
  /** The path whose answers have so many bytes more. */
  padding: { readonly path: string; readonly bytes: number } | undefined
  /** The path whose answers begin, and do not end. */
  endless: string | undefined
  /** A token with other claims, signed by the provider's key or another one. */
  readonly signed: (idToken: string, claims: Claims, key?: KeyObject) => string
  /** The queries of the requests to its page. */
  readonly asked: Array<URLSearchParams>
}

const form = (uid: string) =>
  `<!doctype html><title>Provider</title><form method="post" action="/interaction/${uid}">
  <label>Who are you? <input name="login"></label><button>Go on</button></form>`

const make = (issuer: string, baseUrl: string, jwk: Claims, isGroupsInToken: boolean) =>
  new OidcProvider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${baseUrl}/callback`],
        post_logout_redirect_uris: [`${baseUrl}/viewer/`]
      }
    ],
    jwks: { keys: [jwk as never] },
    cookies: { keys: ["a key for the cookies of the provider"] },
    pkce: { required: () => true },
    scopes: ["openid", "profile", "email"],
    claims: { openid: ["sub"], email: ["email"], profile: ["groups"] },
    conformIdTokenClaims: !isGroupsInToken,
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, accountId) => ({
      accountId,
      claims: () => ({ sub: accountId, email: `${accountId}@example.com`, groups: [...(groups[accountId] ?? [])] })
    }),
    // Nobody is asked whether this server may know them.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session!.accountId! })
      grant.addOIDCScope("openid profile email")
      await grant.save()
      return grant
    }
  })

/** Starts one for a server at `baseUrl`, at a port that is given or free. */
export const start = async (baseUrl: string, { isGroupsInToken = false, port = 0 } = {}): Promise<Provider> => {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 })
  const server = createServer()
  await once(server.listen(port, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const jwk = { ...privateKey.export({ format: "jwk" }), alg: "RS256", kid: "1", use: "sig" }
  // It warns of its store in memory, which is as it should be here.
  for (const method of ["info", "warn"] as const) vi.spyOn(console, method).mockImplementation(() => {})
  const oidc = make(url, baseUrl, jwk, isGroupsInToken)
  const provider: Provider = {
    url,
    forge: undefined,
    padding: undefined,
    endless: undefined,
    asked: [],
    signed: (idToken, claims, key = privateKey) => {
      const [header, payload] = idToken.split(".")
      const changed = { ...JSON.parse(Buffer.from(payload!, "base64url").toString()), ...claims }
      const signing = `${header}.${Buffer.from(JSON.stringify(changed)).toString("base64url")}`
      return `${signing}.${sign("sha256", Buffer.from(signing), key).toString("base64url")}`
    }
  }
  oidc.use(async (context, next) => {
    if (context.path === "/auth") provider.asked.push(new URLSearchParams(context.querystring))
    await next()
    if (context.path === "/token" && context.status === 200 && provider.forge !== undefined) {
      const forged = provider.forge(context.body as Claims)
      context.body = forged
      if ("error" in forged) context.status = 400
    }
    if (context.path === provider.padding?.path) {
      context.body = { ...(context.body as Claims), padding: "x".repeat(provider.padding.bytes) }
    }
  })
  const handle = oidc.callback()
  const interact = async (request: IncomingMessage, response: ServerResponse) => {
    const { uid } = await oidc.interactionDetails(request, response)
    if (request.method === "GET") return void response.setHeader("content-type", "text/html").end(form(uid))
    const accountId = new URLSearchParams(await text(request)).get("login")!
    const result = accountId === "" ? { error: "access_denied" } : { login: { accountId } }
    await oidc.interactionFinished(request, response, result)
  }
  server.on("request", (request, response) => {
    if (request.url === provider.endless) {
      response.writeHead(200, { "content-type": "application/json" }).write('{"access_token":"')
    } else if (request.url!.startsWith("/interaction/")) void interact(request, response)
    else void handle(request, response)
  })
  return provider
}
