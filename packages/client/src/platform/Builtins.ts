/**
 * The modules of Node where the platform has them: Node, Bun, Deno and some edge runtimes. They are asked for at run time, so
 * that a bundle for a browser or an edge runtime has no import that it cannot resolve.
 */
/* oxlint-disable no-restricted-imports -- types only */
import type * as AsyncHooks from "node:async_hooks"
import type * as Crypto from "node:crypto"
import type * as Fs from "node:fs"
import type * as Os from "node:os"
import type * as Path from "node:path"
import type * as Zlib from "node:zlib"
/* oxlint-enable no-restricted-imports */

export interface Builtins {
  readonly async_hooks: typeof AsyncHooks
  readonly crypto: Pick<typeof Crypto, "hash">
  readonly fs: typeof Fs
  readonly os: typeof Os
  readonly path: typeof Path
  readonly zlib: typeof Zlib
}

/** The global `process`, where there is one. */
export const processOf = (): NodeJS.Process | undefined => (globalThis as { process?: NodeJS.Process }).process

/** A module of Node. Undefined where the platform does not have it. */
export const builtin = <Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined => {
  try {
    return processOf()?.getBuiltinModule?.(`node:${name}`) as Builtins[Name] | undefined
  } catch {
    return undefined
  }
}

/** The value of an environment variable; undefined where it is empty, absent or may not be read. */
export const variable = (name: string): string | undefined => {
  try {
    return processOf()?.env?.[name] || undefined
  } catch {
    return undefined
  }
}

/** The environment variables that may be read. */
export const variables = (): ReadonlyArray<readonly [name: string, value: string]> => {
  try {
    return Object.entries(processOf()?.env ?? {}).flatMap(([name, value]) => (value ? [[name, value] as const] : []))
  } catch {
    return []
  }
}
