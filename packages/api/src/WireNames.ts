/** Names on the wire: the domain's names in snake case. */

export type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : ""

type SnakeKeys<Fields> = { readonly [Name in keyof Fields & string]: SnakeCase<Name> }

/** For `Schema.encodeKeys`: maps the name of each field to its name on the wire. */
export const snakeKeys = <Fields extends object>(fields: Fields): SnakeKeys<Fields> =>
  Object.fromEntries(
    Object.keys(fields).map((name) => [name, name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)])
  ) as SnakeKeys<Fields>
