/** The time zone in which the pages show times: the browser's, unless a person has chosen another one. */
import * as Setting from "./Setting.ts"

let browser: string | undefined

export const ofBrowser = (): string => (browser ??= Intl.DateTimeFormat().resolvedOptions().timeZone)

/** The names that this browser knows. */
export const all: ReadonlyArray<string> = Array.from(new Set(["UTC", ...Intl.supportedValuesOf("timeZone")]))

/** Empty for the browser's own. */
export const setting = Setting.make("zone", ["", ...all])

export const get = (): string => setting.get() || ofBrowser()
