"""A service that counts visits."""

import os
from collections.abc import AsyncIterator
from typing import Annotated

import redis.asyncio
from fastapi import Depends, FastAPI

app = FastAPI()


def redis_url() -> str:
    return os.environ["REDIS_URL"]


async def connect(url: Annotated[str, Depends(redis_url)]) -> AsyncIterator[redis.asyncio.Redis]:
    async with redis.asyncio.from_url(url) as client:
        yield client


@app.get("/visits/{page}")
async def visits(page: str, client: Annotated[redis.asyncio.Redis, Depends(connect)]) -> int:
    return await client.incr(f"visits:{page}")
