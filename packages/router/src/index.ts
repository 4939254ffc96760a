export * as Routes from "./Routes.ts"
export { defaultMaxBody } from "./RequestBody.ts"
