SET lock_timeout = '5s';

-- Which call of which program it is. Null: the model made it.
ALTER TABLE "tool_calls" ADD COLUMN "program" JSON;

RESET lock_timeout;
