/** Needs no key, and reveals nothing about the data. */
import * as Schema from "effect/Schema"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"

/** What lets people read: a key, the rule of the application that serves Tachograph, or a provider of OpenID Connect, beside keys. */
export const SignInOnWire = Schema.Struct({
  by: Schema.Literals(["key", "application", "oidc"]),
  /** The path or the address where a browser logs in; null where there is none. */
  login: Schema.NullOr(Schema.String),
  /** The path that ends what was logged in, by POST; null where there is none. */
  logout: Schema.NullOr(Schema.String)
}).annotate({ identifier: "SignIn" })

export class SignIn extends HttpApiGroup.make("signIn").add(
  HttpApiEndpoint.get("getSignIn", "/sign-in", { success: SignInOnWire }).annotate(
    OpenApi.Summary,
    "Read how people sign in; needs no key"
  )
) {}
