export { createHandler, type LambdaHandler } from "./Handler.ts"
export { UnknownEventError } from "./LambdaEvent.ts"
export type { LambdaResult } from "./LambdaResult.ts"
