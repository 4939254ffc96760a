export * as StorageSuite from "./StorageSuite.ts"
export * as HttpSuite from "./HttpSuite.ts"
export * as Payloads from "./Payloads.ts"
export * as RandomJson from "./RandomJson.ts"
