export { createHandler, type LambdaHandler } from "./Handler.ts"
export { UnknownEventError } from "./LambdaEvent.ts"
export { eventOf } from "./LambdaRequest.ts"
export type { LambdaResult } from "./LambdaResult.ts"
