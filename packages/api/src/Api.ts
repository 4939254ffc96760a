/** The name of a provider's API, as clients send it. */
import { Api } from "@tachograph/core/domain/Event"
import * as ProviderNames from "@tachograph/core/domain/ProviderNames"
import * as Violation from "@tachograph/core/domain/Violation"
import * as Schema from "effect/Schema"
import * as SchemaTransformation from "effect/SchemaTransformation"

const oneOf = (values: ReadonlyArray<string>) => {
  const quoted = values.map((value) => `'${value}'`)
  return [quoted.slice(0, -1).join(", "), quoted.at(-1)].filter(Boolean).join(" or ")
}

/** The neutral names, and the vendors' names as aliases. */
export const ApiOrAlias = Schema.Literals([...ProviderNames.apis, ...ProviderNames.apiAliases.keys()]).pipe(
  Violation.annotate({
    type: "enum",
    msg: `Input should be ${oneOf(ProviderNames.apis)}`,
    ctx: { expected: oneOf(ProviderNames.apis) }
  }),
  Schema.decodeTo(
    Api,
    SchemaTransformation.transform({
      decode: (name: string) => ProviderNames.apiAliases.get(name) ?? (name as Api),
      encode: (api: string) => api
    })
  )
)
