"""The addresses of a server that answers nothing: beside the project's own, in the same middleware and settings."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from idcsched.scheduling.recorder import recorder
from idcsched.urls import urlpatterns as own

__all__ = ["urlpatterns"]


class Machine(serializers.Serializer):
    """Ten fields, such as an order has."""

    request_id = serializers.CharField(max_length=255)
    region = serializers.CharField(max_length=63)
    isp = serializers.CharField(max_length=63)
    tier = serializers.ChoiceField(choices=["edge", "center"])
    count = serializers.IntegerField(min_value=1)
    bandwidth_mbps = serializers.FloatField(min_value=0)
    cpu = serializers.FloatField(min_value=0)
    memory_gib = serializers.FloatField(min_value=0)
    disk_gib = serializers.FloatField(min_value=0)
    image = serializers.CharField(max_length=255)


class EmptyRestView(APIView):
    """What a view of the REST framework costs that checks a body and says so."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        serializer = Machine(data=request.data)
        serializer.is_valid(raise_exception=True)
        return Response(serializer.validated_data)


@csrf_exempt
def empty(request: HttpRequest) -> HttpResponse:
    """What a view costs that does nothing at all."""
    return JsonResponse({})


# Below `api/`, where what brings a token goes past the middlewares for browsers: they are asked the way orders are.
urlpatterns = [path("api/bench/empty/", empty), path("api/bench/drf/", EmptyRestView.as_view()), *own]

if not settings.BENCH_RECORDS:  # what an answer costs without its record
    recorder.hand_in = lambda record: None  # type: ignore[method-assign]
